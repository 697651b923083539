message(FATAL_ERROR "cohort includes a file of the project that added it")
