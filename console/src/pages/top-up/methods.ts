// Which ways to pay suit the present browser.

const inside = 'jsapi'
const ofPhones: ReadonlySet<string> = new Set(['wap', 'h5'])
const ofAll: ReadonlySet<string> = new Set(['checkout'])

/** The ways that suit the present browser; all of them if none does. Inside WeChat only its own way works. */
export function fittingMethods(methods: readonly string[], isPhone: boolean): readonly string[] {
  if (isWeChat() && methods.includes(inside)) return [inside]
  const outside = methods.filter((each) => each !== inside)
  const fitting = outside.filter((each) => ofAll.has(each) || ofPhones.has(each) === isPhone)
  return fitting.length > 0 ? fitting : outside
}

/** WeChat's own browser. */
function isWeChat(): boolean {
  return /MicroMessenger/i.test(navigator.userAgent)
}

/** A small touch screen. */
export function isPhone(): boolean {
  return matchMedia('(pointer: coarse) and (max-width: 767px), (max-width: 480px)').matches
}
