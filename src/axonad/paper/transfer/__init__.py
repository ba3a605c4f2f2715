"""The label-free transfer check: whether one data set is an outlier among others."""
