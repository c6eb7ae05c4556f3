// Package tuning holds every number and word list of the line pruner, each with its unit and
// its source. Nothing that a person might want to try out stands anywhere else.
package tuning

// Limits of what is read. Beyond them a text is only counted: they bound the time, not
// the choice.
const (
	MaxQuestion    = 4000 // bytes of a question
	ScoredPrefix   = 4096 // bytes of a line matched against the question: a minified file is one line, and its first page says what it is
	SignalPrefix   = 400  // bytes of a line searched for signs of trouble
	TemplatePrefix = 300  // bytes of a line that tell which statement printed it
	MaxFollowers   = 8    // words that may follow one word of a question in a phrase
	CheckEvery     = 2048 // lines between two looks at the context
)

// Detection, set by reading texts that were taken for the wrong kind.
const (
	DiffShare     = 0.25 // of the lines, at least, in a diff
	VoteSample    = 200  // lines that vote on the kind, at the beginning, in the middle and at the end
	FewLines      = 20   // lines that must have voted before a text that looks like nothing is a log
	FewPaths      = 2    // a list of paths has more
	SentenceRunes = 12   // characters of a script without spaces that make a sentence
	Fronted       = 90   // percent of a log's lines with something put in front of them
	TableColumns  = 2    // columns of a table, at least
	TableRows     = 4    // lines of a table or of nested keys, at least
	ShapeSample   = 400  // lines that tell whether a text is a table or nested keys
	ShapeShare    = 85   // percent of them that must look so
	FrontSample   = 200  // lines after which a log with too few of them is known to have none
)

// Words. Bits are log2(files / files with the word), counted over source files
// (lists/common.txt); lengths were set so that no pair of unrelated words was seen to match.
const (
	TypoWeight = 1       // of a word of the text that is one slip away from a word of the question, which is nowhere in it
	MinTypo    = 5       // letters of the shortest word that may be misspelt; shorter words have too many neighbours
	TypoBytes  = 1 << 20 // of a text that are searched for misspelt words, which takes a pass of its own

	RareBits  = 6 // information in a word that fewer than one source file in 45 has
	MinPrefix = 4 // letters of the shortest stem that may stand for a longer word it begins
)

// Structure.
const (
	LongestSignature = 6  // lines from a definition's first line to the end of its signature
	MaxEntry         = 60 // lines of one entry of a log
)

// Signs of trouble in logs, weighed 0..1. Set on logs of 20 tools with known faults.
const (
	AlarmSignal    = 0.7 // and more is certainly trouble: such lines stay whatever the question
	WarningSignal  = 0.4 // a warning, when nobody asks for warnings
	FewAlarms      = 40  // alarms that are all kept; of more, some of each statement
	PerTemplate    = 3   // alarms kept of one statement, and the last one
	EndingLines    = 3   // lines at the end of a log, where it says how it ended
	LongestName    = 100 // bytes a file's name may go on after a word
	LongestVerdict = 120 // bytes of a line that sums up a run
	FloodLines     = 20  // lines that differ only in names are one statement's where at least so many do
	NameShare      = 50  // a word is a name where fewer than one line in nameShare has it
	TroubleReach   = 3   // lines from an alarm in which something is still told of it
	HeadLines      = 3   // lines at the beginning of a log that say what it is of
	LastWords      = 20  // lines at the end of a log that tell of a death without any other sign
	PassedShare    = 0.3 // of its score, for the output of a test that passed
)

// BM25's constants as published (Robertson et al., Okapi at TREC-3); b is lower because
// the units of one text differ less in length than documents do.
const (
	TermSaturation = 1.2 // k1
	LengthShare    = 0.6 // b
)

// Evidence that a text answers at all, in bits of the question found together. Set by
// cross-validation over repositories: questions of other repositories must come back whole.
const (
	Complete          = 0.8 // fraction of a question's bits that, standing together, is its answer
	Chance            = 0.3 // bits taken off per doubling of the lines: in many lines some words stand together by luck
	PhraseWeight      = 0.7 // per root of a bit, for words that follow each other as in the question
	HeadWeight        = 1.2 // for words in one definition's name, heading or path
	PhraseBytes       = 16  // between the beginnings of two words of a phrase, at most
	PhraseHits        = 4   // occurrences looked at after a word for the rest of its phrase
	FailureConfidence = 0.8 // of a log that holds the failure asked for
	MentionShare      = 0.6 // of what a question names beside the failure must occur in the log
	Elsewhere         = 2   // times the evidence it takes where the log does not hold the failure
)

// Overviews: what an outline keeps. Set by reading the outlines of some thirty files.
const (
	OutlineShare = 0.25 // of the tokens, without a budget
	OpeningLines = 12   // at the beginning of a text, which say what it is
	OpeningScore = 10.0 // of the first line
	OpeningStep  = 0.25 // less for each further one
	HeadScore    = 9.0  // of an outermost definition, heading or key; less the deeper it lies
	SaidShare    = 0.9  // of that, for the line that says what it is for
)

// Gates of a text that is pruned without a budget.
const (
	ShortText     = 300  // tokens; below, a text is cheaper whole than asked for twice
	MinConfidence = 0.5  // most questions without an answer stay below, and three of ten with one
	FreeShare     = 0.5  // largest share of the tokens kept
	FreeLogShare  = 0.75 // of a log: a short one can be mostly its failure
	FreeFloor     = 0.42 // of the best line's score
	FreeLogFloor  = 0.38 // and in a log, where the lines around a failure tell of it
	LogFloor      = 0.2  // of the best line's score, for a log with a budget: routine is no answer
	Bridged       = 48   // tokens; a smaller gap is not worth its marker
	ExtraShare    = 0.08 // of the tokens, for definitions and imports around what is kept
	SkeletonShare = 0.03 // of the tokens, for definitions that enclose nothing kept, where a reranker chose
	MinGain       = 0.12 // share of the tokens that has to be saved, markers counted
	MarkerTokens  = 16   // about what one marker costs
)

// Learned ranking, set by cross-validation over sessions (docs/LEARNED.md). A range is
// kept if it is expected to hold, for its tokens, so many percent of what an average line
// of the text holds.
const (
	FileShare      = 54.0   // percent, within a session, of a file of ShareTokens; it grows with the root of the tokens
	OutputShare    = 78.0   // and of what a command or a search printed, of which less is needed later
	ShareTokens    = 2000.0 // tokens
	CarefulShare   = 0.6    // of these, for a file that is being worked on
	LeastShare     = 15.0   // percent
	MostShare      = 250.0  // percent
	Precise        = 0.6    // confidence from which the rules choose for a question that was written for the text
	AskedShare     = 60     // percent, within a session, for a question that was written for the text
	CallShare      = 70     // percent, where only the question and the call are known
	CallConfidence = 0.4    // evidence of an answer without which a text then comes back whole
)
