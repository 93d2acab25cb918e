// The search parameters in this page's address.

import { searchOf, text } from '../../app/search.ts'

export const validateTopUpSearch = searchOf({
  /** An order that is shown, so that it can be paid later, and found again after paying. */
  order: text,
  provider: text,
  /** What is to be paid, in the provider's currency. */
  amount: text,
  /** The model that amounts are counted in. */
  model: text,
})
