"""Tables, and the strings of a set at every place of a row of characters."""

import tensorflow as tf

NONE = -1


class Trie(tf.Module):
    """A set of strings that grow by a character from node to node.

    Args:
        values: A dictionary of the strings and their values, 0 or more. None is empty or holds a zero character.

    Attributes:
        longest: Characters of the longest string.
    """

    def __init__(self, values):
        super().__init__()
        nodes, children = {"": 0}, {}
        for string in values:
            for end in range(1, len(string) + 1):
                if (prefix := string[:end]) not in nodes:
                    nodes[prefix] = len(nodes)
                    children[pair(nodes[prefix[:-1]], ord(prefix[-1]))] = nodes[prefix]
        self.longest = max(map(len, values))
        self._children = table(children, len(nodes), tf.int64)
        # After the last node there is one more, for who finds no way on.
        self._values = tf.constant([values.get(prefix, NONE) for prefix in nodes] + [NONE])

    def find(self, characters):
        """The values of the strings that begin at each place.

        Args:
            characters: int32 (places,), code points.

        Returns:
            int32 (places, longest): in column n the value of the string of n + 1 characters, or `NONE`.
        """
        nodes, found = tf.zeros_like(characters, tf.int64), []
        ahead, count = tf.pad(tf.cast(characters, tf.int64), [[0, self.longest]]), tf.size(characters)
        for n in range(self.longest):
            nodes = self._children.lookup(pair(nodes, ahead[n : n + count]))
            found.append(tf.gather(self._values, nodes))
        return tf.stack(found, axis=1)


def pair(first, second):
    """Two integers from 0 up, below 2³¹, as one key."""
    return first * 2**31 + second


def table(values, default, dtype=tf.int32):
    """A static table of the integers that a dictionary has for integers from 0 up, or for strings."""
    values = values or {NONE: default}  # TensorFlow refuses an empty one.
    keys = tf.constant(list(values), tf.string if isinstance(next(iter(values)), str) else tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.constant(list(values.values()), dtype))
    return tf.lookup.StaticHashTable(initializer, default)
