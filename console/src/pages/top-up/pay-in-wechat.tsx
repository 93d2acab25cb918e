// Pays with the script that WeChat adds to pages in its own browser.

import { Trans, useLingui } from '@lingui/react/macro'
import { useEffect, useState } from 'react'
import { Button } from '../../ui/button.tsx'

interface WeChatBridge {
  invoke(
    name: 'getBrandWCPayRequest',
    given: object,
    then: (result: { readonly err_msg: string }) => void,
  ): void
}

declare global {
  interface Window {
    readonly WeixinJSBridge?: WeChatBridge
  }
}

interface PayInWeChatProps {
  /** Signed by the merchant. */
  readonly bridge: Readonly<Record<string, string>>
  readonly check: () => Promise<void>
}

export function PayInWeChat({ bridge, check }: PayInWeChatProps) {
  const { t } = useLingui()
  const weChat = useWeChat()
  const [isOpen, setOpen] = useState(false)
  const [said, setSaid] = useState<string | null>(null)
  if (weChat === null)
    return (
      <p>
        <Trans>Open this page in WeChat to pay.</Trans>
      </p>
    )
  function pay() {
    setOpen(true)
    setSaid(null)
    weChat?.invoke('getBrandWCPayRequest', bridge, ({ err_msg: result }) => {
      setOpen(false)
      // Only the provider's message counts as proof of payment.
      if (result.endsWith(':ok')) void check()
      else
        setSaid(result.endsWith(':cancel') ? t`Nothing was paid.` : t`WeChat refused the payment.`)
    })
  }
  return (
    <>
      <Button variant="primary" busy={isOpen} onClick={pay}>
        <Trans>Pay in WeChat</Trans>
      </Button>
      {said !== null && <p role="status">{said}</p>}
    </>
  )
}

/** It may arrive after the page; null: this is another browser, or it is not there yet. */
function useWeChat(): WeChatBridge | null {
  const [weChat, setWeChat] = useState(window.WeixinJSBridge ?? null)
  useEffect(() => {
    const come = () => setWeChat(window.WeixinJSBridge ?? null)
    document.addEventListener('WeixinJSBridgeReady', come)
    return () => document.removeEventListener('WeixinJSBridgeReady', come)
  }, [])
  return weChat
}
