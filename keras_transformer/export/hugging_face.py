"""Export as a folder for the Hugging Face hub: the smaller run folder of `run_folder`, with a model card."""

from keras_transformer.export import EXACT, run_folder
from keras_transformer.export.model_card import CARD, model_card

QUANTIZATIONS, OPTIONS, FILE = run_folder.QUANTIZATIONS, run_folder.OPTIONS, run_folder.FILE
IS_RUN_FOLDER = True
EDITABLE = (CARD,)  # Its owner fills in the license, among others.

load = run_folder.load


def write(run, model, folder, quantization=EXACT, fallback=None):
    """Writes a run folder and its `README.md`. The arguments and errors are those of `run_folder.write`."""
    run_folder.write(run, model, folder, quantization, fallback)
    (folder / CARD).write_bytes(model_card(run, model.count_params(), folder, quantization).encode("utf-8"))
