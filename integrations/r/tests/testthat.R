library(testthat)
library(kanopy)
test_check("kanopy")
