// The deployment's only currency, as the balance names it.

import { useBalance } from '../../api/queries.ts'

export function useCurrency(): string {
  return useBalance().data?.currency ?? ''
}
