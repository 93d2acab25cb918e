// The tool whose input is the reply, for models that cannot be held to a form otherwise.

/** Its name alone marks it: the reader shows its input as text. */
export const replyTool = 'tollgate_json_reply'
