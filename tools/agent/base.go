package agent

// Base says how one run of a client is told to send its API calls elsewhere, and where they go otherwise.
type Base struct {
	Variable string // of the environment, with the address; "": the client has to be told in another way
	Address  string // the API's own

	// Others are variables that send the calls to another provider, with its name.
	Others []Other
}

// Other is a variable that selects another provider.
type Other struct{ Variable, Provider string }
