"""What is said in the editor about edits, completions and commands."""

EMPTY_INSTRUCTION = "Say what to change: the instruction is empty."
EMPTY_REDIRECT = "Say what to change instead: the instruction is empty."
NOT_OPEN = "{uri} is not open in the editor; open it first."

TOO_LONG = "{scope} is too long for the model {model}: select less, or choose a model with more room."
NO_EXPLANATION = "The model gave no explanation; try again, or choose another model."

NO_EDIT_HERE = "There is no edit here to go on with: start one first."

MORE_THAN_SCOPE = "The model answered with more of the file than `{name}`, so nothing was changed; try again."
NO_HEADER = "The model's answer lacks the line that begins `{name}`, so nothing was changed; try again."

PAUSED = "Midstream is paused."
SWITCHED_OFF = (
    "Completions are switched off for {language}; `complete.languages` in the settings switches them on."
)
UNTRUSTED = "The workspace is not trusted, so nothing of it is sent; trust it in the editor first."

LEFT_OUT = "The model left code out instead of writing it, so its edit was taken back; try again."
REPEATED = "The model began to repeat itself and was stopped; undo takes back what it wrote."
NO_CODE = "The model gave no code, so nothing was changed; say the instruction in other words."
CODE_BROKE_OFF = "The model's code broke off in the middle, so the rest was not touched; undo takes it back."
NO_PLACE = "The model named no place to change, so nothing was changed; try again."
TAKEN_BACK = "{sentence} The edit was taken back."

REVERT_LATER = "The editor has not reported the edit yet; try to revert again in a moment."
NOTHING_TO_REVERT = "There is nothing to revert here any more."
LINES_KEPT = "{kept} lines"
REVERTED_EXCEPT = "Reverted, except {lines} that you changed since."
UNDO_TAKES_IT = "undo takes it back"
YOUR_TEXT_STAYS = "it was taken back, your text stays"
MET_YOUR_KEY = "An edit met a key that you typed at the same moment; {told}."
REVERT_REFUSED = "The editor refused the revert; its own undo takes the edit back."
TYPED_MEANWHILE = "You typed while the edit was reverted; undo takes back the rest of it."

SELECTION = "the selection"
CALLBACK = "this callback"
PLACE = "this place"
STATEMENT = "this statement"

MINUTES = "'minutes' is a number; 0 ends a pause."

ONE_OBJECT = "The command takes one object as its argument."
TEXT_FIELD = "The command's argument needs {name!r}, a string."
RANGE_FIELD = "The command's argument needs a 'range' or a 'position', as LSP writes them."

NOT_VALID = "The parameters of {method} are not valid."
NO_COMMAND = "There is no command {command!r}."

DOWNLOAD = "Midstream's local model {model} must be downloaded once ({size:.0f} MB). Do it now?"
NOT_NOW = "Not now"
SETTINGS = "Midstream's settings: {problems}"

FETCHING = "Midstream: fetching the local model"
TOKENS = "{tokens} tokens"

LONGER_THAN_ALLOWED = (
    "The answer was longer than the model may speak at once; select a smaller part, or raise "
    "maxTokens of the model."
)
BROKE_OFF = "The model's answer broke off; what came so far stays, undo takes it back."
CLOSED_MEANWHILE = "The document was closed while it was being edited."
NOT_REPORTED = (
    "The editor did not report the edit within 5 s, so nothing more was written; undo takes "
    "back what is there."
)
MET_A_KEY = "An edit met a key that was typed at the same moment; it was taken back and the rest dropped."
EDIT_REFUSED = "The editor refused the edit; the file may be read-only or locked."
EARLIER_NOT_REPORTED = (
    "The editor has not reported an earlier edit yet, so this one was not started; try again."
)
EDIT_FAILED = "Midstream failed on this edit ({name}); see its log."
