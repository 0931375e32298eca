"""KServe's server with an exported SavedModel; it needs TensorFlow and kserve, and nothing of keras_transformer.

python kserve_server.py EXPORTED --model_name chatbot --http_port 8080
curl http://127.0.0.1:8080/v1/models/chatbot:predict -H 'Content-Type: application/json' -d '{"instances": ["hello"]}'
"""

import argparse

import kserve
import tensorflow as tf


class Chatbot(kserve.Model):
    """A SavedModel by KServe's protocol.

    Args:
        name: The model's name in the address.
        path: The folder of the SavedModel.
    """

    def __init__(self, name, path):
        super().__init__(name)
        self.loaded = tf.saved_model.load(path)
        self.ask = self.loaded.signatures["serving_default"]
        self.ready = True

    def predict(self, payload, headers=None):
        """Answers {"instances": [question, …]} with {"predictions": [{"answers": …, "scores": …}, …]}."""
        found = self.ask(questions=tf.constant(payload["instances"], tf.string))
        answers, scores = found["answers"].numpy(), found["scores"].numpy()
        return {"predictions": [{"answers": a.decode(), "scores": float(s)} for a, s in zip(answers, scores)]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(parents=[kserve.model_server.parser])
    parser.add_argument("path", help="what keras-transformer export wrote")
    options = parser.parse_args()
    kserve.ModelServer().start([Chatbot(options.model_name, options.path)])
