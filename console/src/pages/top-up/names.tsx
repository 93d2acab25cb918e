// Ways to pay, in words.

import { useLingui } from '@lingui/react/macro'

export function useMethodName(): (method: string) => string {
  const { t } = useLingui()
  return (method) => {
    switch (method) {
      case 'page':
      case 'checkout':
      case 'checkout_saved':
        return t`On its page`
      case 'qr':
      case 'native':
        return t`Scan a QR code`
      case 'wap':
      case 'h5':
        return t`In the app on this phone`
      case 'off_session':
        return t`Automatically`
      default:
        return method
    }
  }
}

const ofPhones: ReadonlySet<string> = new Set(['wap', 'h5'])
const ofAll: ReadonlySet<string> = new Set(['checkout'])

/** What fits the device in hand; all of them where nothing does. */
export function fittingMethods(methods: readonly string[], isPhone: boolean): readonly string[] {
  const fitting = methods.filter((each) => ofAll.has(each) || ofPhones.has(each) === isPhone)
  return fitting.length > 0 ? fitting : methods
}

/** A small screen that is touched. */
export function isPhone(): boolean {
  return matchMedia('(pointer: coarse) and (max-width: 767px), (max-width: 480px)').matches
}
