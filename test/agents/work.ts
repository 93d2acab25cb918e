// What a scripted model tells an agent to do: the call that it makes of the offered tools, and the expected result.

import { png, type SaidCall } from '../conformance/said.ts'

export const resultFile = 'result.txt'
export const resultText = 'made by a tool'
export const pictureFile = 'picture.png'
export const picture = png

/** One tool as it was offered to the vendor. */
export interface OfferedTool {
  readonly name: string
  readonly namespace?: string
  /** Its input is text in the vendor's own format. */
  readonly free?: true
}

const command = `printf '${resultText}' > ${resultFile}`
const patch = `*** Begin Patch\n*** Add File: ${resultFile}\n+${resultText}\n*** End Patch\n`

type Input = (folder: string) => Readonly<Record<string, unknown>>

/** By the end of a tool's name: how it is asked to write the file. The first one that is offered is called. */
const writers: readonly (readonly [name: RegExp, input: Input])[] = [
  [/^apply_patch$/, () => ({ input: patch })],
  [/^(functions__)?exec$/, () => ({ input: script })],
  [/^exec_command$/, () => ({ cmd: command })],
  [/^run_shell_command$/, () => ({ command, description: 'Writes the file.' })],
  [/^[Bb]ash$/, () => ({ command, description: 'Writes the file.' })],
  [/^run_commands$/, () => ({ commands: [command] })],
]

/** Codex runs this in a separate environment, where its tools are functions. */
const script = `const done = await tools.exec_command({ cmd: ${JSON.stringify(command)} })\ntext(done.output)\n`

/** How agents that attach no picture to a prompt look at the picture in the folder. */
const readers: typeof writers = [
  [/^Read$/, (folder) => ({ file_path: `${folder}/${pictureFile}` })],
]

export interface Call extends SaidCall {
  readonly namespace?: string
  readonly free?: true
}

export function callOf(
  kind: 'write' | 'read',
  tools: readonly OfferedTool[],
  folder: string,
): Call | null {
  for (const [name, input] of kind === 'write' ? writers : readers) {
    const tool = tools.find((each) => name.test(each.name))
    if (tool !== undefined) return { id: 'call_1', ...tool, input: input(folder) }
  }
  return null
}
