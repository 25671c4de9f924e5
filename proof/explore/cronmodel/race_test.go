//go:build race

package cronmodel

const raceDetector = true
