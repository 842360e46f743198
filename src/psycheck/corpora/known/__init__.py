"""Known corpora, each read from the files as its owners release them."""
