//go:build !race

package jobmodel

const raceDetector = false
