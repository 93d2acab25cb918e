// All channels, loaded as one list: they are few, and filters and counts by state need all of them.

import { type QueryClient, useQuery } from '@tanstack/react-query'
import { get, type Shape } from '../../api/client.ts'

export type Channel = Shape<'Channel'>

const refreshMs = 10_000
const pageRows = 500

export function useChannels() {
  return useQuery({
    queryKey: ['/api/channels'],
    queryFn: async ({ signal }) => {
      const found: Channel[] = []
      let cursor: string | null = null
      do {
        const query = { limit: pageRows, ...(cursor !== null && { cursor }) }
        const page: { readonly items: readonly Channel[]; readonly next: string | null } =
          await get('/api/channels', { params: { query } }, signal)
        found.push(...page.items)
        cursor = page.next
      } while (cursor !== null)
      return found
    },
    // The state of channels changes by itself.
    refetchInterval: refreshMs,
  })
}

/** Called after a change: everything shown of channels is requested again. Resolves once it has arrived. */
export function refreshChannels(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => String(path).startsWith('/api/channels'),
  })
}

/** A channel that the file, the environment or the gateway itself declares cannot be changed here. */
export function isStored(channel: Channel): boolean {
  return channel.origin === 'stored'
}
