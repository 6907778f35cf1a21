"""Of `maxmargin.distributed`; a folder of that name would stand before Dask's own package."""
