// Names of the ways to pay.

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
      case 'jsapi':
        return t`Here in WeChat`
      case 'off_session':
        return t`Automatically`
      default:
        return method
    }
  }
}
