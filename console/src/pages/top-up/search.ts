// The search parameters in this page's address.

import { searchOf, text } from '../../app/search.ts'

export const validateTopUpSearch = searchOf({
  /** The order that is shown, so that it can be paid later, and found again after paying. */
  order: text,
  provider: text,
  /** The amount to pay, in the provider's currency. */
  amount: text,
  /** The model in whose tokens amounts are shown. */
  model: text,
})
