package e2e

import (
	"flag"
	"os"
	"testing"
	"time"
)

// serverFlags are the flags of a server that checks rights.
var serverFlags = []string{"--authorization-mode=RBAC", "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}

// TestEndToEnd runs all tests that share a server at the same time. Most of their time is spent
// waiting.
func TestEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a real API server")
	}

	logErrors()
	began := time.Now()
	c := newCluster(t, serverFlags...)
	t.Logf("the server is up after %v", time.Since(began).Round(time.Millisecond))

	together := func(name string, tests map[string]func(*testing.T, *cluster)) {
		t.Run(name, func(t *testing.T) {
			for name, test := range tests {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					test(t, c)
				})
			}
		})
	}

	together("together", map[string]func(*testing.T, *cluster){
		"features":      testFeatures,
		"restarts":      testRestarts,
		"faults":        testFaults,
		"late watch":    testLateWatch,
		"leader killed": testLeaderKilled,
		"writers":       testConflictingWriters,
		"indexed jobs":  testIndexedJobs,
		"namespace":     testNamespaceDeleted,
		"scope":         testScope,
	})

	together("then", map[string]func(*testing.T, *cluster){
		"rights":         testRights,
		"columns":        testColumns,
		"bad input":      testBadInput,
		"unknown fields": testUnknownFields,
	})
	t.Run("burst", func(t *testing.T) { testBurst(t, c) })
	t.Run("server restarted", func(t *testing.T) { testServerRestarted(t, c) })
}

// TestMain lets all tests run concurrently, however few processors there are: they wait most of the
// time.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "40"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

var (
	clusters     = flag.Int("clusters", 60, "clusters of package batchtest, one after another")
	seed         = flag.Uint64("seed", 1, "seed of injected faults")
	burstJobs    = flag.Int("jobs", 10, "jobs created together")
	burstPods    = flag.Int("pods", 3, "pods of each of them")
	burstIndexes = flag.Int("indexes", 100, "pods of one more job")
)
