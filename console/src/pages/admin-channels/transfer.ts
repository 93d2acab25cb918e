// Channels as JSON: exporting to a file and reading one.

import { get } from '../../api/client.ts'
import { download } from '../../ui/download.ts'

/** Saves the stored channels to a file; `***` replaces secrets. */
export async function exportChannels(): Promise<void> {
  const text = JSON.stringify(await get('/api/channels/export'), null, 2)
  download('channels.json', 'application/json', text)
}

/** A file's `channels`, or a list of them. Throws SyntaxError if the text is not JSON. */
export function channelsIn(text: string): readonly unknown[] | null {
  const given = JSON.parse(text)
  const channels = Array.isArray(given) ? given : given?.channels
  return Array.isArray(channels) ? channels : null
}
