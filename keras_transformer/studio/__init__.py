"""The studio: a page in the browser to train a bot, talk to it, teach it, compare it and give it away."""
