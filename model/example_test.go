package model_test

import (
	"fmt"

	"eventide/model"
)

func ExampleNext() {
	s := model.New(model.Config{})
	for _, next := range model.Next(s, model.Action{Kind: model.StepStartOK}) {
		fmt.Println(next)
	}
	fmt.Println(len(model.Next(s, model.Action{Kind: model.StepDone})))
	// Output:
	// {Started}
	// 0
}

func ExampleSimulate() {
	_, _, err := model.Simulate(model.Config{}, []model.Action{
		{Kind: model.StepStartOK},
		{Kind: model.OpExecute, Body: model.Task(1), Outcome: model.Accepted},
		{Kind: model.OpShutdown},
		{Kind: model.StepDone},
	})
	not := err.(*model.NotAllowed)
	fmt.Println(not.Guarantee, not.Sentence)
	fmt.Println(not.Nearest[0])
	// Output:
	// G3 an accepted task runs before Done is closed
	// begin task 1
}

func ExampleExplore() {
	r := model.Explore(model.Bounds{Producers: 1, Tasks: 2, Hooks: 1, Shutdown: true}, model.Options{})
	fmt.Println(r.Complete, r.Violation)
	// Output: true <nil>
}
