import type { ModelRequest } from '@eyrie/element'
import type { Provider } from '@eyrie/model-store/session'

/** A kind of processor that models can run on, and its ONNX Runtime execution provider. */
interface Device {
  type: Exclude<ModelRequest['hw'], 'auto'>
  provider: Provider
}

/** Fastest first. None of the execution providers supports integrated GPUs. */
const DEVICES: readonly Device[] = [
  { type: 'gpu', provider: 'cuda' },
  { type: 'cpu', provider: 'cpu' },
]

/** Returns the devices of the available providers, fastest first. */
export function listDevices(providers: readonly Provider[]): Device[] {
  return DEVICES.filter(({ provider }) => providers.includes(provider))
}

/**
 * Returns the provider for a device; `auto` selects the fastest. Throws an `Error` if the
 * machine has no such device.
 */
export function selectProvider(hw: ModelRequest['hw'], providers: readonly Provider[]): Provider {
  const available = listDevices(providers)
  const device = hw === 'auto' ? available[0] : available.find(({ type }) => type === hw)
  if (device) return device.provider

  const types = available.map(({ type }) => type).join(', ')
  throw new Error(
    `this machine has no ${hw} that models can run on; available: ${types}. Use hw auto or one of these`,
  )
}

export function toDeviceType(provider: Provider): Device['type'] {
  return DEVICES.find(device => device.provider === provider)!.type
}
