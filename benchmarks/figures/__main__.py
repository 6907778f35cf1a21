from threadpoolctl import threadpool_limits

from .main import main

if __name__ == "__main__":  # processes that a run starts import this file, too
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
