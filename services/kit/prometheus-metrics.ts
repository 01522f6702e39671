/** Content-Type of the Prometheus text format. */
export const METRICS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** A value with its labels. */
export type Sample = readonly [labels: Record<string, string | number>, value: number]

export interface MetricFamily {
  /** Names of counters end in `_total`. */
  name: string
  type: 'gauge' | 'counter'
  /** One sentence. */
  help: string
  samples: readonly Sample[]
}

/** Renders metrics in the Prometheus text format, version 0.0.4. */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${escapeHelp(help)}`,
      `# TYPE ${name} ${type}`,
      ...samples.map(sample => formatSample(name, sample)),
    ])
    .map(text => `${text}\n`)
    .join('')
}

function formatSample(name: string, [labels, value]: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(String(text))}"`)
  return `${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${formatNumber(value)}`
}

const escapeHelp = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string) => escapeHelp(text).replaceAll('"', '\\"')

/** Formats a number as Go does. */
function formatNumber(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}
