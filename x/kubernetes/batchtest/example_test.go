package batchtest_test

import (
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/batchplan/batchplan/x/kubernetes/batchtest"
)

// config is the configuration of the test's API server, as envtest.Environment.Start returns it.
var config *rest.Config

func Example() {
	_ = func(t *testing.T) {
		cluster := batchtest.Start(t, config)
		cluster.Pods(batchtest.SucceedAfter(time.Second))
		// The program under test creates the job "train".
		cluster.Wait(t, batchtest.Complete("train"))
	}
}

func ExampleCluster_Pods() {
	_ = func(t *testing.T) {
		cluster := batchtest.Start(t, config, batchtest.Speed(100))
		cluster.Pods(batchtest.Succeed())
		// The first two pods of index 3 fail, and so do all of the job "broken".
		cluster.Pods(batchtest.FailWith(42), batchtest.OfJob("train"), batchtest.Index(3), batchtest.Attempt(0, 1))
		cluster.Pods(batchtest.FailWith(1), batchtest.OfJob("broken"))
		cluster.Wait(t, batchtest.Complete("train"))
		cluster.Wait(t, batchtest.FailedFor("broken", "BackoffLimitExceeded"))
	}
}

func ExampleCluster_Pod() {
	_ = func(t *testing.T) {
		cluster := batchtest.Start(t, config)
		cluster.Pods(batchtest.Unready(), batchtest.OfJob("train"))
		cluster.Pod("train-0").Ready(true)
		cluster.Wait(t, batchtest.ReadyPods("train", 1))
		cluster.Pod("train-0").Fail(137)
		cluster.Pods(batchtest.Succeed(), batchtest.OfJob("train")) // also the running ones
		cluster.Wait(t, batchtest.Complete("train"))
	}
}
