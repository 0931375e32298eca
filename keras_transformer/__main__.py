"""`python -m keras_transformer` is `keras-transformer`."""

import sys

from keras_transformer.cli.main import main

sys.exit(main())
