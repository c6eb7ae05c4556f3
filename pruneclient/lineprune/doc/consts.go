package doc

// Limits of how much of a text is examined. Tokens beyond them are only counted. They bound the running
// time.
const (
	MaxQuestion    = 4000    // bytes of a question
	ScoredPrefix   = 4096    // bytes of a line matched against the question; a minified file is a single line, and its first page identifies it
	SignalPrefix   = 400     // bytes of a line searched for signs of trouble
	TemplatePrefix = 300     // bytes of a line that identify the statement that printed it
	MaxFollowers   = 8       // words that may follow one word of a question in a phrase
	SpreadSteps    = 1 << 26 // lines times words of a question whose surroundings are scored; 64 words in a million lines
	CheckEvery     = 2048    // lines between two checks of the context
)

// Detection. Set by reading texts whose kind was detected wrongly.
const (
	DiffShare      = 0.25 // minimum fraction of a diff's lines that look like a diff
	VoteSample     = 200  // lines that vote on the kind, from the beginning, the middle and the end together
	FewLines       = 20   // lines that must have voted before a text that looks like no kind counts as a log
	FewPaths       = 2    // a list of paths has more paths than this
	SentenceRunes  = 12   // characters of a script without spaces that count as a sentence
	FrontedPercent = 90   // percent of a log's lines that must have a prefix
	TableColumns   = 2    // minimum columns of a table
	TableRows      = 4    // minimum lines of a table or of nested keys
	ShapeSample    = 400  // lines sampled to recognise a table or nested keys
	ShapeShare     = 85   // percent of them that must match
	FrontSample    = 200  // lines after which a log with too few prefixes is taken to have none
)

// Words. Bits are log2(files / files with the word), counted over source files (lists/common.txt). Minimum
// lengths were set so that no pair of unrelated words was seen to match.
const (
	TypoWeight  = 1       // weight of a word that is one typing error away from a word of the question that does not occur in the text
	MinTypo     = 5       // letters of the shortest word that may be misspelt; shorter words have too many neighbours
	MinTalkTypo = 7       // the same for the words of every question, which have more neighbours: handed is not handled
	TypoBytes   = 1 << 20 // bytes of a text searched for misspelt words, because the search takes a pass of its own

	PartTerms = 2 // words that a part of a question names at least; with one, half of a name would be a part
	MostParts = 4 // parts of a question that are answered one by one; each takes a pass over the text

	RareBits  = 6 // information in bits of a word that fewer than one source file in 45 contains
	MinPrefix = 4 // letters of the shortest stem that may match a longer word by its beginning
)

// Structure of code and logs.
const (
	LongestSignature = 6  // lines from a definition's first line to the end of its signature
	MaxEntry         = 60 // lines of one entry of a log
)

// Records of structured data. Set by reading results of GitHub's, Kubernetes' and browsers' tools.
const (
	RecordFloor       = 0.6 // fraction of the best line's score that a line must exceed for its record to be kept; without a budget
	WholeRecord       = 400 // tokens; a smaller record is kept whole or not at all
	IdentifyingFields = 8   // fields that identify a record and stay with it, at most
	NestedFields      = 2   // the same if they are nested in it, as metadata.name is
)

// Signs of trouble in logs, weighted 0..1. Set on logs of 20 tools with known faults.
const (
	AlarmSignal    = 0.7 // from this weight on, a line is an alarm and is kept whatever the question
	FailingSignal  = 0.8 // weight of a line that names a failing test
	WarningSignal  = 0.4 // weight of a warning when the question does not ask for warnings
	FewAlarms      = 40  // up to so many alarms are all kept; of more, only some per statement
	PerTemplate    = 3   // alarms kept per statement, in addition to its last one
	FewFailures    = 20  // failing tests that are kept whatever the question, each from its title to its first place
	EndingLines    = 3   // lines at the end of a log, which report its outcome
	LongestName    = 100 // bytes that a file name may continue after a word
	LongestVerdict = 120 // bytes of a line that sums up a run
	FloodLines     = 20  // lines that differ only in names count as one statement's if there are at least so many
	NameShare      = 50  // a word is a name if fewer than one line in NameShare contains it
	TroubleReach   = 3   // lines around an alarm that still belong to it
	HeadLines      = 3   // lines at the beginning of a log that say what was run
	LastWords      = 20  // lines at the end of a log that may report a death without any other sign
	PassedShare    = 0.3 // fraction of its score that the output of a passed test keeps, and a warning where something failed
)

// Constants of BM25 as published (Robertson et al., Okapi at TREC-3), except that b is lower, because the
// units of one text differ less in length than documents do.
const (
	TermSaturation = 1.2 // k1
	LengthShare    = 0.6 // b
)

// Evidence that a text contains an answer, in bits of the question found together. Set by cross-validation
// over repositories: a question about another repository must return the text whole.
const (
	CompleteShare     = 0.8 // fraction of the question's bits that must occur close together for the passage to count as an answer
	ChanceBits        = 0.3 // bits deducted per doubling of the number of lines, because some words occur together by chance
	PhraseWeight      = 0.7 // per square root of a bit, for words that follow each other as in the question
	HeadWeight        = 1.2 // for words in one definition's name, heading or path
	PhraseBytes       = 16  // maximum bytes between the starts of two words of a phrase
	PhraseHits        = 4   // hits examined after a word for the rest of its phrase
	FailureConfidence = 0.8 // confidence for a log that contains the failure asked about
	MentionShare      = 0.6 // fraction of the subjects named besides the failure that must occur in the log
	ElsewhereFactor   = 2   // factor by which more evidence is required if the log does not contain the failure
)

// ListLines that a question names literally, and lines that are equal.
const (
	MostNames    = 12  // names of a question that are searched for; each takes a pass over the text
	ShortestName = 3   // bytes of a name
	LongestNamed = 120 // bytes of a name
	FewNamed     = 3   // lines with a name that all stay, in a short text
	MostNamed    = 8   // the same in a long one
	NamedShare   = 32  // one line in so many in between
	CommonShare  = 4   // a name on more than one line in so many names nothing; one on fewer, but many, its first line
	NamedTokens  = 120 // tokens for lines with names, at least
	NamedPart    = 0.1 // fraction of the tokens for lines with names in a long text
	HeadTokens   = 24  // tokens of the longest heading that counts against a budget; a longer one is not brought
	EqualBits    = 2   // bits of a word of the question that makes a line one of which the first equal one stays
	EqualBytes   = 8   // bytes of the shortest line that is compared with equal ones
)

// Overviews: how much an outline keeps. Set by reading the outlines of about thirty files.
const (
	OutlineShare = 0.25 // fraction of the tokens, without a budget
	OpeningLines = 12   // lines at the beginning of a text, which introduce it
	OpeningScore = 10.0 // score of the first line
	OpeningStep  = 0.25 // decrease per further line
	HeadScore    = 9.0  // score of an outermost definition, heading or key; it decreases with depth
	SaidShare    = 0.9  // fraction of that for the line that says what it is for
)

// Gates for a text that is pruned without a budget.
const (
	ShortText     = 300  // tokens; below, asking twice would cost more than the whole text
	MinConfidence = 0.5  // most questions without an answer in the text stay below it, and so do three of ten with one
	FreeShare     = 0.5  // largest fraction of the tokens kept
	FreeLogShare  = 0.75 // the same for a log, because a short one can consist mostly of its failure
	FreeFloor     = 0.42 // fraction of the best line's score that a line must exceed
	FreeLogFloor  = 0.38 // the same for a log, where the lines around a failure explain it
	LogFloor      = 0.2  // the same for a log with a budget, so that routine lines do not fill it
	PassageLines  = 120  // lines of the longest passage of a search with context that is kept or dropped as one
	ItemLines     = 8    // lines of the largest item of a list that is kept whole or not at all
	BridgedTokens = 48   // tokens; a smaller gap is not worth its marker
	ExtraShare    = 0.08 // fraction of the tokens, for definitions and imports that kept lines need
	SkeletonShare = 0.03 // the same when a reranker chose; only definitions that enclose a kept line may exceed it
	MinGain       = 0.12 // fraction of the tokens that must be saved, markers counted
	MarkerTokens  = 16   // tokens of one marker, approximately
)

// Learned ranking. Set by cross-validation over sessions (docs/evidence/LEARNED.md). The shares are thresholds: a
// range is kept if its expected use per token is at least so many percent of the text's average.
const (
	FileShare         = 60.0   // percent, within a session, for a file of ShareTokens tokens; it grows with the square root of the tokens
	OutputShare       = 78.0   // the same for files that a command prints
	MatchShare        = 100.0  // the same for a list of matches
	LogShare          = 117.0  // the same for a log, of which little is needed later
	AskedShare        = 60.0   // the same within a session, for a question that was written for the text
	CallShare         = 70.0   // the same if only the question and the call are known
	ShareTokens       = 2000.0 // tokens of the text to which these shares apply
	CarefulShare      = 0.9    // factor for a file that is being worked on
	LeastShare        = 15.0   // percent, lower bound of the result
	MostShare         = 250.0  // percent, upper bound of the result
	PreciseConfidence = 0.6    // confidence from which the rules choose for a question that was written for the text
	CallConfidence    = 0.4    // confidence below which such a text is returned whole
)
