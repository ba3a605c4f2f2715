"""The label-free transfer check: summary features of training segments, compared."""
