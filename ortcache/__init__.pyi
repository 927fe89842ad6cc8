from . import raw as raw
from .api.device import EpDevice as EpDevice
from .api.options import SessionOptions as SessionOptions
from .api.run_options import RunOptions as RunOptions
from .api.runtime import Runtime as Runtime
from .api.runtime import load as load
from .api.session import Session as Session
from .api.value import Value as Value
from .errors import ClosedError as ClosedError
from .errors import InputError as InputError
from .errors import LibraryError as LibraryError
from .errors import LibraryNotFoundError as LibraryNotFoundError
from .errors import LibraryVersionError as LibraryVersionError
from .errors import NotOnnxRuntimeError as NotOnnxRuntimeError
from .errors import OrtcacheError as OrtcacheError
from .errors import OrtError as OrtError
from .errors import ProposedFunctionError as ProposedFunctionError
from .errors import UnsupportedFunctionError as UnsupportedFunctionError

__version__: str
