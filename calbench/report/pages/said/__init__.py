"""What pages say first: sentences made from the numbers of their tables."""
