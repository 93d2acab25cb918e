// The members of replies that clients send back with a conversation, by who takes them there.

/** The members in which replies of other vendors, and of the gateway, have a model's reasoning. */
const thoughtMembers = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
] as const

/** Members of OpenAI's own replies, which its API takes back and other vendors refuse. */
export const replyMembers = ['refusal', 'annotations', 'audio', 'function_call'] as const

/** Members of other vendors' replies and of the gateway's, which OpenAI refuses too. */
export const foreignMembers = [...thoughtMembers, 'images', 'extra_content'] as const

/** What a call has in requests; replies add `index` and other vendors' state. */
export const callMembers = ['id', 'type', 'function', 'custom'] as const

/** The most characters of a call's id that OpenAI takes in a chat. */
export const longestCallId = 40
