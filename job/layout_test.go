package job_test

import (
	"os"
	"testing"
)

// TestStoriesAreNamedAfterRules: each folder of stories is named after the file that
// holds their rule.
func TestStoriesAreNamedAfterRules(t *testing.T) {
	folders, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folders {
		if name := f.Name(); f.IsDir() && name != "rapid" && name != "fuzz" {
			if _, err := os.Stat(name + ".go"); err != nil {
				t.Errorf("testdata/%s: %v", name, err)
			}
		}
	}
	if len(folders) < 10 {
		t.Errorf("%d folders of stories", len(folders))
	}
}
