"""`python -m keras_transformer` is `keras-transformer`."""

import sys

from keras_transformer_trainer import main

sys.exit(main())
