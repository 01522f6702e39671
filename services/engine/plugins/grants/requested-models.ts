import type { InferenceCapability, OwnModel } from '@eyrie/contract/plugin-inference'

/**
 * Returns what an element asks for beyond the models that it was granted; undefined if nothing.
 * Models are compared by name, not by file: any model of the plugin sees the same pictures, and can
 * report to the plugin what they show. Larger pictures are more.
 */
export function describeNewModels(
  requested: InferenceCapability | undefined,
  granted: readonly InferenceCapability[],
): string | undefined {
  if (!requested) return undefined
  const grantedNames = new Set(granted.flatMap(({ models }) => models))
  const grantedOwn = new Set(granted.flatMap(({ own }) => own.map(({ name }) => name)))
  const grantedWidth = Math.max(0, ...granted.map(({ width }) => width))
  const models = requested.models.filter(name => !grantedNames.has(name))
  const own = requested.own.filter(({ name }) => !grantedOwn.has(name))

  const parts = [
    ...(models.length > 0
      ? [`runs ${formatCount(models)} ${models.join(', ')} of this machine`]
      : []),
    ...(own.length > 0
      ? [
          `runs its own ${formatCount(own)} ${own.map(formatModel).join(', ')}, whose results can contain parts of pictures`,
        ]
      : []),
  ]
  const size = `on pictures up to ${requested.width} pixels wide`
  if (parts.length > 0) return `${parts.join(', and ')}, ${size}`
  return requested.width > grantedWidth
    ? `runs its models ${size}, granted: ${grantedWidth} pixels`
    : undefined
}

const formatModel = ({ name, license }: OwnModel) => `${name} (${license})`

const formatCount = ({ length }: readonly unknown[]) => (length === 1 ? 'model' : 'models')
