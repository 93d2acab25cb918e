// Parts whose code loads when they are first shown.

import { type ComponentType, type ReactNode, useEffect, useState } from 'react'
import { Problem } from '../api/client.ts'
import { Failure } from './state.tsx'

/**
 * Like React's `lazy`, but if the code cannot be loaded only this part fails, and can be tried again. `waiting` is
 * shown until then; a part without it is an overlay, and its error is shown as one too.
 */
export function later<Props extends object>(
  load: () => Promise<{ readonly default: ComponentType<Props> }>,
  waiting?: ReactNode,
): ComponentType<Props> {
  let Part: ComponentType<Props> | undefined
  return function Later(props) {
    const [, setLoaded] = useState(false)
    const [error, setError] = useState<Error | null>(null)
    const isAsked = Part === undefined && error === null
    useEffect(() => {
      if (!isAsked) return
      let isShown = true
      load().then(
        (loaded) => {
          Part = loaded.default
          if (isShown) setLoaded(true)
        },
        (failure: Error) => isShown && setError(new Problem(0, 'not_loaded', failure.message)),
      )
      return () => {
        isShown = false
      }
    }, [isAsked])
    if (Part !== undefined) return <Part {...props} />
    if (error === null) return waiting
    const failure = <Failure error={error} retry={() => setError(null)} />
    if (waiting !== undefined) return failure
    return <div className="fixed inset-x-4 bottom-4 z-50 mx-auto max-w-lg">{failure}</div>
  }
}
