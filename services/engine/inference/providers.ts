import { createIdentityModel } from '@eyrie/model-store/onnx/identity'
import { openSession, type Provider } from '@eyrie/model-store/session'
import { listSupportedBackends } from 'onnxruntime-node'

/** The execution providers that really work here: a listed one may lack its libraries or its device. */
export async function presentProviders(): Promise<Provider[]> {
  const isListed = listSupportedBackends().some(({ name }) => name === 'cuda')
  return isListed && (await loads('cuda')) ? ['cpu', 'cuda'] : ['cpu']
}

async function loads(provider: Provider): Promise<boolean> {
  try {
    await (await openSession(createIdentityModel(), provider)).release()
    return true
  } catch {
    return false
  }
}
