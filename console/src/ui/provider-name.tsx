// Names of payment providers.

import { useLingui } from '@lingui/react/macro'

/** The name for `alipay`, `wechatpay`, `stripe`. */
export function useProviderName(): (provider: string) => string {
  const { t } = useLingui()
  return (provider) => {
    if (provider === 'alipay') return t`Alipay`
    if (provider === 'wechatpay') return t`WeChat Pay`
    return provider === 'stripe' ? t`Card (Stripe)` : provider
  }
}

export function ProviderName({ provider }: { readonly provider: string }) {
  return useProviderName()(provider)
}
