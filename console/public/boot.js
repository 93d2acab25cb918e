// Sets theme, density and language before the first paint; an own file, since the page allows no inline script.
try {
  const kept = JSON.parse(localStorage.getItem('tollgate.preferences') ?? '{}')
  const root = document.documentElement
  if (kept.theme === 'light' || kept.theme === 'dark') root.dataset.theme = kept.theme
  if (kept.density === 'compact') root.dataset.density = 'compact'
  if (kept.language === 'zh-CN') root.lang = 'zh-CN'
} catch {
  // Storage may be denied: the page then follows the system.
}
