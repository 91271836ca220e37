"""Show it: tables, plots and diagrams for the pages, rendered from results files. Never measures."""
