// Anthropic's predefined tools that the client runs, described as functions for all other vendors.

import type { JsonObject } from '../ir.ts'

interface ClientTool {
  /** The tool's `type` up to its date. */
  readonly beginning: string
  readonly description: string
  readonly parameters: JsonObject
}

const text = { type: 'string' } as const
const count = { type: 'integer' } as const
const place = { type: 'array', items: count } as const

/** Source: Anthropic, "Bash tool". */
const bash: ClientTool = {
  beginning: 'bash_',
  description: 'Runs a command in a bash session that lasts from call to call.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...text, description: 'Required unless the session is restarted.' },
      restart: { type: 'boolean', description: 'Begins the session anew.' },
    },
  },
}

/** Source: Anthropic, "Text editor tool". */
const textEditor: ClientTool = {
  beginning: 'text_editor_',
  description: 'Views, creates and edits text files.',
  parameters: {
    type: 'object',
    properties: {
      command: { ...text, enum: ['view', 'create', 'str_replace', 'insert'] },
      path: text,
      view_range: { ...place, description: 'view: the first and the last line, -1 for the end.' },
      file_text: { ...text, description: 'create: the content of the file.' },
      old_str: { ...text, description: 'str_replace: the text to replace, which must stand once.' },
      new_str: { ...text, description: 'str_replace: what takes its place.' },
      insert_line: {
        ...count,
        description: 'insert: the line to insert behind, 0 for the beginning.',
      },
      insert_text: { ...text, description: 'insert: the text.' },
    },
    required: ['command', 'path'],
  },
}

/** Source: Anthropic, "Computer use tool". */
const computer: ClientTool = {
  beginning: 'computer_',
  description: 'Looks at a screen and acts on it with mouse and keyboard.',
  parameters: {
    type: 'object',
    properties: {
      action: {
        ...text,
        enum: [
          'screenshot',
          'left_click',
          'right_click',
          'middle_click',
          'double_click',
          'triple_click',
          'left_click_drag',
          'left_mouse_down',
          'left_mouse_up',
          'mouse_move',
          'cursor_position',
          'scroll',
          'type',
          'key',
          'hold_key',
          'wait',
          'zoom',
        ],
      },
      coordinate: { ...place, description: 'x and y in pixels.' },
      start_coordinate: { ...place, description: 'left_click_drag: where it begins.' },
      text: { ...text, description: 'What to type, or the keys to press.' },
      scroll_direction: { ...text, enum: ['up', 'down', 'left', 'right'] },
      scroll_amount: count,
      duration: { type: 'number', description: 'Seconds.' },
      region: { ...place, description: 'zoom: left, top, right and bottom.' },
    },
    required: ['action'],
  },
}

/** Source: Anthropic, "Memory tool". */
const memory: ClientTool = {
  beginning: 'memory_',
  description: 'Keeps notes in files below /memories, from conversation to conversation.',
  parameters: {
    type: 'object',
    properties: {
      command: {
        ...text,
        enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'],
      },
      path: text,
      view_range: place,
      file_text: text,
      old_str: text,
      new_str: text,
      insert_line: count,
      insert_text: text,
      old_path: { ...text, description: 'rename: the file.' },
      new_path: { ...text, description: 'rename: its new name.' },
    },
    required: ['command'],
  },
}

const clientTools: readonly ClientTool[] = [bash, textEditor, computer, memory]

/** The function that stands for a tool of this type; null where Anthropic runs it itself, or the type is unknown. */
export function asFunction(
  type: string,
  { display_width_px: width, display_height_px: height }: JsonObject,
): { readonly description: string; readonly parameters: JsonObject } | null {
  const known = clientTools.find(({ beginning }) => type.startsWith(beginning))
  if (known === undefined) return null
  const { description, parameters } = known
  if (typeof width !== 'number' || typeof height !== 'number') return { description, parameters }
  return { description: `${description} The screen has ${width} by ${height} pixels.`, parameters }
}
