import type { ModelRequest } from '@eyrie/element'
import type { Provider } from '@eyrie/model-store/session'

interface Device {
  type: Exclude<ModelRequest['hw'], 'auto'>
  provider: Provider
}

/** Devices and their ONNX Runtime execution providers, fastest first. No provider in use supports integrated GPUs. */
const DEVICES: readonly Device[] = [
  { type: 'gpu', provider: 'cuda' },
  { type: 'cpu', provider: 'cpu' },
]

/** The devices of the available providers, fastest first. */
export function listDevices(providers: readonly Provider[]): Device[] {
  return DEVICES.filter(({ provider }) => providers.includes(provider))
}

/** The provider for the requested device; `auto` selects the fastest. Throws if the machine has no such device. */
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
