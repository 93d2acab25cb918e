// Requests the affected data again when prices have changed.

import type { QueryClient } from '@tanstack/react-query'

export function refreshPrices(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [path] }) => /^\/api\/(prices|models)/.test(String(path)),
  })
}
