"""Lookup tables, and a trie that finds strings at every position of a sequence of characters."""

import tensorflow as tf

NONE = -1


class Trie(tf.Module):
    """A trie of strings.

    Args:
        values: A dictionary from strings to values, 0 or more. No string may be empty or contain a zero character.

    Attributes:
        longest: Number of characters of the longest string.
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
        # One extra node after the last stands for "no match".
        self._values = tf.constant([values.get(prefix, NONE) for prefix in nodes] + [NONE])

    def find(self, characters):
        """Looks up the strings that begin at each position.

        Args:
            characters: Code points, int32 (positions,).

        Returns:
            int32 (positions, longest). Column n holds the value of the string of n + 1 characters, or `NONE`.
        """
        nodes, columns = tf.zeros_like(characters, tf.int64), []
        ahead, count = tf.pad(tf.cast(characters, tf.int64), [[0, self.longest]]), tf.size(characters)
        for n in range(self.longest):
            nodes = self._children.lookup(pair(nodes, ahead[n : n + count]))
            columns.append(tf.gather(self._values, nodes))
        return tf.stack(columns, axis=1)


def pair(first, second):
    """Combines two integers from 0 to 2³¹ - 1 into one key."""
    return first * 2**31 + second


def table(values, default, dtype=tf.int32):
    """Creates a static lookup table from a dictionary whose keys are integers of at least 0, or strings."""
    values = values or {NONE: default}  # TensorFlow does not support empty tables.
    keys = tf.constant(list(values), tf.string if isinstance(next(iter(values)), str) else tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(keys, tf.constant(list(values.values()), dtype))
    return tf.lookup.StaticHashTable(initializer, default)
