"""What makes the equations fast on a machine: compilation, devices, precision. It is put on from outside."""
