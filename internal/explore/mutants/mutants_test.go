package main

import (
	"os"
	"strings"
	"testing"
)

// TestListApplies: each edit still applies to the sources.
func TestListApplies(t *testing.T) {
	t.Chdir("../../..")
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 30 {
		t.Errorf("%d bugs", len(all))
	}
	dir, numbers := t.TempDir(), map[string]bool{}
	for _, m := range all {
		overlay, err := m.plant(dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if text, err := os.ReadFile(overlay); err != nil || !strings.Contains(string(text), "Replace") {
			t.Errorf("%s: %s, %v", m.number, text, err)
		}
		if numbers[m.number] {
			t.Errorf("%s is a number of two bugs", m.number)
		}
		numbers[m.number] = true
	}
}
