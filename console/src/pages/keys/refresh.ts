// Requests everything shown of keys again after a change.

import type { QueryClient } from '@tanstack/react-query'

export function refreshKeys(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => /^\/api\/(management-)?keys/.test(String(path)),
  })
}
