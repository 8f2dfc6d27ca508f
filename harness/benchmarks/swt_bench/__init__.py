"""SWT-bench: patches are tests, judged on several trees."""
