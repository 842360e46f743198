# psycheck with everything that audits and training need, on CPU: docker build -t psycheck .
FROM python:3.11-slim
WORKDIR /psycheck
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir "torch==2.13.0" && \
    pip install --no-cache-dir -c constraints.txt ".[train,weights]"
# The folder is made here, because WORKDIR may give a new one to root.
RUN useradd --create-home auditor && install -d -o auditor /home/auditor/audit
USER auditor
WORKDIR /home/auditor/audit
ENTRYPOINT ["psycheck"]
