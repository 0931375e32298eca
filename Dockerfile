# The server of a trained run:
#
#   docker build --tag keras-transformer .
#   docker run --publish 127.0.0.1:8000:8000 --volume "$PWD/runs/demo:/model:ro" keras-transformer
#
# With --env KERAS_TRANSFORMER_API_KEY=… it asks its clients for that key.
ARG PYTHON=3.13
FROM python:${PYTHON}-slim

WORKDIR /source
COPY setup.cfg pyproject.toml constraints.txt README.md LICENSE keras_transformer_trainer.py ./
COPY keras_transformer keras_transformer
RUN pip install --no-cache-dir --constraint constraints.txt ".[serve]"

RUN useradd --create-home server
USER server
WORKDIR /home/server
EXPOSE 8000

# Loading and warming up takes seconds for a small model and minutes for a large one, during which /health says 503.
HEALTHCHECK --start-period=5m --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
ENTRYPOINT ["keras-transformer", "serve", "/model", "--host", "0.0.0.0"]
