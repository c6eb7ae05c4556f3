package main

import "os"

// maxResident is not to be had here.
func maxResident(*os.ProcessState) float64 { return 0 }
