"""`python -m keras_transformer` is `keras-transformer`."""

import sys

from keras_transformer.apps.cli import main

sys.exit(main())
